/*
 * xml.h - XML text to a tree of elements that remember their place, and back.
 *
 * xml.c is the one file that knows Expat. Kept: elements, their attributes and
 * order; dropped: comments, processing instructions, blanks between elements.
 * The text is read as UTF-8 whatever it declares. Refused with a place: text
 * between elements, a document type (and with it entities of one's own and
 * files from elsewhere), what is not well-formed, and all that is over the
 * limits below. So reading takes time and memory in proportion to the file.
 */
#ifndef MODEL_XML_H
#define MODEL_XML_H

#include "model/text.h"

enum {
    MODEL_XML_BYTES_MAX = 16 << 20,
    MODEL_XML_DEPTH_MAX = 64,
    MODEL_XML_ELEMENTS_MAX = 65536,
    MODEL_XML_ATTRIBUTES_MAX = 64, /* of one element */
    MODEL_XML_VALUE_BYTES_MAX = 4096
};

struct model_xml_attribute {
    const char *name;
    const char *value; /* without entities */
    struct model_xml_attribute *next;
};

struct model_xml_element {
    const char *name;
    struct model_place place; /* of its '<' */
    struct model_xml_attribute *first_attribute, *last_attribute;
    struct model_xml_element *parent; /* NULL: the root */
    struct model_xml_element *first, *last;
    struct model_xml_element *next; /* next sibling */
};

/* Does the text begin as XML does, with '<' after blanks? */
bool model_xml_is(const struct model_text *text);

/* The root element in the arena, or NULL with the fault in errors. */
struct model_xml_element *model_xml_read(struct model_arena *arena,
                                         struct model_text text,
                                         struct model_errors *errors);

/* The value of an attribute, or NULL. */
const char *model_xml_value(const struct model_xml_element *element,
                            const char *name);

/* Build a tree by hand: a new element, appended to parent (NULL: a root). */
struct model_xml_element *model_xml_new(struct model_arena *arena,
                                        struct model_xml_element *parent,
                                        const char *name);

/* Append an attribute; name is borrowed. */
void model_xml_put(struct model_arena *arena,
                   struct model_xml_element *element,
                   const char *name,
                   const char *format,
                   ...) __attribute__((format(printf, 4, 5)));

/*
 * Write the tree, two blanks a level, one element a line, no declaration
 * before it. Returns MODEL_FAULT when the stream fails.
 */
enum model_status model_xml_write(const struct model_xml_element *root,
                                  FILE *stream);

#endif
