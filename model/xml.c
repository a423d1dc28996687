/*
 * xml.c - XML text to a tree of elements and back; the one user of Expat.
 *
 * Expat calls back for each element; the limits are kept there, and the first
 * fault stops it. Memory may run out in a callback and leaves by longjmp: a
 * guard of our own stands before the caller's, lets go of the parser and raises
 * again.
 */
#include "model/xml.h"

#include <expat.h>
#include <string.h>

struct xml_reading {
    struct model_arena *arena;
    struct model_errors *errors;
    struct model_text text;
    XML_Parser parser;
    jmp_buf *outer_guard;
    struct model_xml_element *root;
    struct model_xml_element *open; /* innermost, or NULL */
    int depth;
    int element_count;
    bool broken; /* a fault was reported */
};

bool model_xml_is(const struct model_text *text)
{
    size_t at =
        text->length >= 3 && memcmp(text->text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;

    while (at < text->length && strchr(" \t\r\n", text->text[at]) != NULL &&
           text->text[at] != '\0') {
        at++;
    }
    return at < text->length && text->text[at] == '<';
}

static struct model_place xml_place(const struct xml_reading *reading)
{
    return (struct model_place){
        reading->text.file, (int)XML_GetCurrentLineNumber(reading->parser),
        (int)XML_GetCurrentColumnNumber(reading->parser) + 1};
}

/* Report the one fault and stop. */
static void xml_break(struct xml_reading *reading,
                      struct model_place place,
                      const char *hint,
                      const char *message)
{
    if (!reading->broken) {
        (void)model_errors_add(reading->errors, MODEL_BAD_INPUT, place, NULL,
                               hint, "%s", message);
        reading->broken = true;
    }
    (void)XML_StopParser(reading->parser, XML_FALSE);
}

struct model_xml_element *model_xml_new(struct model_arena *arena,
                                        struct model_xml_element *parent,
                                        const char *name)
{
    struct model_xml_element *element =
        model_arena_alloc(arena, sizeof(*element));

    element->name = model_arena_text(arena, name);
    element->parent = parent;
    if (parent != NULL && parent->last == NULL) {
        parent->first = element;
    } else if (parent != NULL) {
        parent->last->next = element;
    }
    if (parent != NULL) {
        parent->last = element;
    }
    return element;
}

static void xml_attribute_add(struct model_arena *arena,
                              struct model_xml_element *element,
                              const char *name,
                              const char *value)
{
    struct model_xml_attribute *attribute =
        model_arena_alloc(arena, sizeof(*attribute));

    *attribute = (struct model_xml_attribute){name, value, NULL};
    if (element->last_attribute == NULL) {
        element->first_attribute = attribute;
    } else {
        element->last_attribute->next = attribute;
    }
    element->last_attribute = attribute;
}

void model_xml_put(struct model_arena *arena,
                   struct model_xml_element *element,
                   const char *name,
                   const char *format,
                   ...)
{
    va_list values;

    va_start(values, format);
    xml_attribute_add(arena, element, name,
                      model_arena_format_list(arena, format, values));
    va_end(values);
}

const char *model_xml_value(const struct model_xml_element *element,
                            const char *name)
{
    const struct model_xml_attribute *attribute = element->first_attribute;

    while (attribute != NULL && strcmp(attribute->name, name) != 0) {
        attribute = attribute->next;
    }
    return attribute != NULL ? attribute->value : NULL;
}

/* -- reading -- */

static void xml_attributes_take(struct xml_reading *reading,
                                struct model_xml_element *element,
                                const XML_Char **pairs)
{
    for (int i = 0; pairs[i] != NULL; i += 2) {
        if (i / 2 == MODEL_XML_ATTRIBUTES_MAX) {
            xml_break(reading, element->place, "at most 64",
                      "too many attributes");
            return;
        }
        if (strlen(pairs[i]) > MODEL_XML_VALUE_BYTES_MAX ||
            strlen(pairs[i + 1]) > MODEL_XML_VALUE_BYTES_MAX) {
            xml_break(reading, element->place, "at most 4096 bytes",
                      "an attribute is too long");
            return;
        }
        xml_attribute_add(reading->arena, element,
                          model_arena_text(reading->arena, pairs[i]),
                          model_arena_text(reading->arena, pairs[i + 1]));
    }
}

static void XMLCALL xml_element_start(void *data,
                                      const XML_Char *name,
                                      const XML_Char **pairs)
{
    struct xml_reading *reading = data;

    /* Expat may call again for the end of an empty element that stopped it. */
    if (reading->broken) {
        return;
    }
    if (reading->depth == MODEL_XML_DEPTH_MAX) {
        xml_break(reading, xml_place(reading), "at most 64 levels",
                  "elements are nested too deep");
        return;
    }
    if (reading->element_count == MODEL_XML_ELEMENTS_MAX) {
        xml_break(reading, xml_place(reading), "at most 65536",
                  "too many elements");
        return;
    }
    reading->open = model_xml_new(reading->arena, reading->open, name);
    reading->open->place = xml_place(reading);
    if (reading->root == NULL) {
        reading->root = reading->open;
    }
    reading->depth++;
    reading->element_count++;
    xml_attributes_take(reading, reading->open, pairs);
}

static void XMLCALL xml_element_end(void *data, const XML_Char *name)
{
    struct xml_reading *reading = data;

    (void)name;
    if (!reading->broken) {
        reading->open = reading->open->parent;
        reading->depth--;
    }
}

static void XMLCALL xml_letters(void *data, const XML_Char *letters, int count)
{
    struct xml_reading *reading = data;
    int at = 0;

    while (at < count && (letters[at] == ' ' || letters[at] == '\t' ||
                          letters[at] == '\n' || letters[at] == '\r')) {
        at++;
    }
    if (at < count) {
        xml_break(reading, xml_place(reading), "write attributes only",
                  "text between elements");
    }
}

static void XMLCALL xml_doctype(void *data,
                                const XML_Char *name,
                                const XML_Char *system,
                                const XML_Char *public_id,
                                int has_internal_subset)
{
    struct xml_reading *reading = data;

    (void)name;
    (void)system;
    (void)public_id;
    (void)has_internal_subset;
    xml_break(reading, xml_place(reading), "leave <!DOCTYPE ...> out",
              "a document type is not allowed");
}

/*
 * What Expat stumbled over, at the last letter where the text just ends: there
 * the innermost open element helps more.
 */
static void xml_fault(struct xml_reading *reading)
{
    enum XML_Error code = XML_GetErrorCode(reading->parser);
    struct model_place place = xml_place(reading);
    const char *hint = NULL;

    if (code == XML_ERROR_NO_MEMORY) {
        model_arena_raise(reading->arena);
    }
    if (code == XML_ERROR_NO_ELEMENTS || code == XML_ERROR_UNCLOSED_TOKEN ||
        code == XML_ERROR_PARTIAL_CHAR) {
        place = model_text_last_place(&reading->text);
        hint = "the file ends too early";
    }
    if (code == XML_ERROR_TAG_MISMATCH && reading->open != NULL) {
        hint =
            model_arena_format(reading->arena, "<%s> of line %d is still open",
                               reading->open->name, reading->open->place.line);
    }
    if (code == XML_ERROR_NO_ELEMENTS && reading->open != NULL) {
        hint = model_arena_format(
            reading->arena, "the file ends before </%s> of line %d",
            reading->open->name, reading->open->place.line);
    }
    xml_break(reading, place, hint,
              model_arena_format(reading->arena, "is no XML: %s",
                                 XML_ErrorString(code)));
}

static void xml_parse(struct xml_reading *reading)
{
    XML_SetUserData(reading->parser, reading);
    XML_SetElementHandler(reading->parser, xml_element_start, xml_element_end);
    XML_SetCharacterDataHandler(reading->parser, xml_letters);
    XML_SetStartDoctypeDeclHandler(reading->parser, xml_doctype);
    if (XML_Parse(reading->parser, reading->text.text,
                  (int)reading->text.length, 1) == XML_STATUS_ERROR &&
        !reading->broken) {
        xml_fault(reading);
    }
}

/* Parse; whatever way it ends, the parser is let go. */
static void xml_parse_guarded(struct xml_reading *reading)
{
    jmp_buf guard;

    reading->parser = XML_ParserCreate("UTF-8");
    if (reading->parser == NULL) {
        model_arena_raise(reading->arena);
    }
    reading->outer_guard = model_arena_guard(reading->arena, &guard);
    if (setjmp(guard) != 0) {
        XML_ParserFree(reading->parser);
        (void)model_arena_guard(reading->arena, reading->outer_guard);
        model_arena_raise(reading->arena);
    }
    xml_parse(reading);
    XML_ParserFree(reading->parser);
    (void)model_arena_guard(reading->arena, reading->outer_guard);
}

struct model_xml_element *model_xml_read(struct model_arena *arena,
                                         struct model_text text,
                                         struct model_errors *errors)
{
    struct xml_reading reading = {.arena = arena, .errors = errors};
    bool fine = text.length <= MODEL_XML_BYTES_MAX;

    if (!fine) {
        (void)model_errors_add(errors, MODEL_BAD_INPUT,
                               (struct model_place){text.file, 0, 0}, NULL,
                               NULL, "is larger than 16 MiB");
        return NULL;
    }
    fine = model_text_check(&text, errors);
    model_errors_excerpt(errors, text.file, text.text, text.length);
    if (!fine) {
        return NULL;
    }
    reading.text = text;
    xml_parse_guarded(&reading);
    return reading.broken ? NULL : reading.root;
}

/* -- writing -- */

/* Letters that mean something else in an attribute, or would not come back. */
static void xml_escape(const char *text, FILE *stream)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            (void)fputs("&amp;", stream);
            break;
        case '<':
            (void)fputs("&lt;", stream);
            break;
        case '>':
            (void)fputs("&gt;", stream);
            break;
        case '"':
            (void)fputs("&quot;", stream);
            break;
        case '\t':
        case '\n':
        case '\r':
            (void)fprintf(stream, "&#%d;", *text);
            break;
        default:
            (void)fputc(*text, stream);
        }
    }
}

static void xml_start_write(const struct model_xml_element *element,
                            int level,
                            FILE *stream)
{
    (void)fprintf(stream, "%*s<%s", 2 * level, "", element->name);
    for (const struct model_xml_attribute *attribute = element->first_attribute;
         attribute != NULL; attribute = attribute->next) {
        (void)fprintf(stream, " %s=\"", attribute->name);
        xml_escape(attribute->value, stream);
        (void)fputc('"', stream);
    }
    (void)fputs(element->first == NULL ? "/>\n" : ">\n", stream);
}

static void xml_element_write(const struct model_xml_element *element,
                              int level,
                              FILE *stream)
{
    xml_start_write(element, level, stream);
    for (const struct model_xml_element *child = element->first; child != NULL;
         child = child->next) {
        xml_element_write(child, level + 1, stream);
    }
    if (element->first != NULL) {
        (void)fprintf(stream, "%*s</%s>\n", 2 * level, "", element->name);
    }
}

enum model_status model_xml_write(const struct model_xml_element *root,
                                  FILE *stream)
{
    xml_element_write(root, 0, stream);
    return ferror(stream) == 0 && fflush(stream) == 0 ? MODEL_OK : MODEL_FAULT;
}
