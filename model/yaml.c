/*
 * yaml.c - YAML text to a tree of nodes and back; the one user of libyaml.
 *
 * The text is judged before (text.h), so that libyaml sees only letters it can
 * place. Its events are hung into the tree one by one (node_build.h); what the
 * testbed does not want (anchors, aliases, tags, second documents) is refused
 * at its event. Memory may run out at any allocation and leaves by longjmp;
 * while a parser or event is held, a guard of our own stands before the
 * caller's, lets go of them and raises again.
 */
#include "model/yaml.h"

#include "model/node_build.h"
#include "model/text.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct yaml_reading {
    struct model_node_build build;
    struct model_text text;
    bool parsing; /* parser is to be deleted */
    yaml_parser_t parser;
    yaml_event_t event; /* all zero when none is held */
    jmp_buf *outer_guard;
};

static void yaml_reading_close(struct yaml_reading *reading)
{
    yaml_event_delete(&reading->event);
    if (reading->parsing) {
        yaml_parser_delete(&reading->parser);
    }
    reading->parsing = false;
    model_arena_guard(reading->build.arena, reading->outer_guard);
}

static struct model_place yaml_place(const struct yaml_reading *reading,
                                     yaml_mark_t mark)
{
    return (struct model_place){reading->text.file, (int)mark.line + 1,
                                (int)mark.column + 1};
}

static bool yaml_place_beyond(struct model_place place, struct model_place last)
{
    return place.line > last.line ||
           (place.line == last.line && place.column > last.column);
}

/*
 * Where libyaml stumbled. Behind the text there is nothing to show; the place
 * is then where the unfinished thing begins, or the last letter.
 */
static struct model_place yaml_fault_place(const struct yaml_reading *reading)
{
    const yaml_parser_t *parser = &reading->parser;
    struct model_place last = model_text_last_place(&reading->text);
    struct model_place place = yaml_place(reading, parser->problem_mark);
    if (yaml_place_beyond(place, last) && parser->context != NULL) {
        place = yaml_place(reading, parser->context_mark);
    }
    return yaml_place_beyond(place, last) ? last : place;
}

/* libyaml's own words, with the place it names as context as the hint. */
static void yaml_fault_parser(struct yaml_reading *reading)
{
    const yaml_parser_t *parser = &reading->parser;
    if (parser->error == YAML_MEMORY_ERROR) {
        model_arena_raise(reading->build.arena);
    }
    const char *hint = NULL;
    const char *problem =
        parser->problem != NULL ? parser->problem : "is no YAML";
    if (parser->context != NULL) {
        hint = model_arena_format(reading->build.arena, "%s from line %d",
                                  parser->context,
                                  (int)parser->context_mark.line + 1);
    }
    /* the parser stands where it stumbled */
    if (strstr(problem, "cannot start any token") != NULL &&
        parser->buffer.pointer[0] == '\t') {
        hint = "indent with blanks, not tabs";
    }
    model_node_build_break(&reading->build, yaml_fault_place(reading), problem,
                           hint);
}

/* Refuse anchors and tags; the tree stays whole without them. */
static void yaml_marks_check(struct yaml_reading *reading)
{
    const yaml_event_t *event = &reading->event;
    const yaml_char_t *anchor = NULL;
    const yaml_char_t *tag = NULL;
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    if (anchor != NULL) {
        model_errors_add(&reading->build.faults, MODEL_BAD_INPUT,
                         yaml_place(reading, event->start_mark), NULL,
                         "write the text out", "anchor \"&%s\" is not allowed",
                         (const char *)anchor);
    }
    if (tag != NULL) {
        model_errors_add(&reading->build.faults, MODEL_BAD_INPUT,
                         yaml_place(reading, event->start_mark), NULL,
                         "leave it out", "tag \"%s\" is not allowed",
                         (const char *)tag);
    }
}

static void yaml_scalar_take(struct yaml_reading *reading)
{
    const yaml_event_t *event = &reading->event;
    model_node_build_scalar(
        &reading->build, yaml_place(reading, event->start_mark),
        (const char *)event->data.scalar.value, event->data.scalar.length,
        event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE);
}

/* Take one event; false at the end of the stream. */
static bool yaml_event_take(struct yaml_reading *reading)
{
    struct model_node_build *build = &reading->build;
    struct model_place place = yaml_place(reading, reading->event.start_mark);
    yaml_marks_check(reading);
    switch (reading->event.type) {
    case YAML_DOCUMENT_START_EVENT:
        if (build->root != NULL) {
            model_node_build_break(build, place, "a second document begins",
                                   "write one document per file");
        }
        break;
    case YAML_ALIAS_EVENT:
        model_node_build_break(build, place, "aliases are not allowed",
                               "write the text out");
        break;
    case YAML_SCALAR_EVENT:
        yaml_scalar_take(reading);
        break;
    case YAML_SEQUENCE_START_EVENT:
        model_node_build_open(build, place, MODEL_SEQUENCE);
        break;
    case YAML_MAPPING_START_EVENT:
        model_node_build_open(build, place, MODEL_MAPPING);
        break;
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        model_node_build_close(build);
        break;
    case YAML_STREAM_END_EVENT:
        return false;
    default:
        break;
    }
    return true;
}

static void yaml_root_check(struct yaml_reading *reading)
{
    const struct model_node *root = reading->build.root;
    if (root == NULL || (root->kind == MODEL_SCALAR && !root->quoted &&
                         root->text[0] == '\0')) {
        struct model_place place = {reading->text.file, 0, 0};
        model_node_build_break(&reading->build, place, "is empty", NULL);
    }
}

static void yaml_text_parse(struct yaml_reading *reading)
{
    if (yaml_parser_initialize(&reading->parser) == 0) {
        model_arena_raise(reading->build.arena);
    }
    reading->parsing = true;
    yaml_parser_set_encoding(&reading->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reading->parser,
                                 (const unsigned char *)reading->text.text,
                                 reading->text.length);
    bool more = true;
    while (more && !reading->build.broken) {
        if (yaml_parser_parse(&reading->parser, &reading->event) == 0) {
            yaml_fault_parser(reading);
            return;
        }
        more = yaml_event_take(reading);
        yaml_event_delete(&reading->event);
    }
    if (!reading->build.broken) {
        yaml_root_check(reading);
    }
}

/* Parse; whatever way it ends, parser and event are let go. */
static void yaml_text_parse_guarded(struct yaml_reading *reading)
{
    jmp_buf guard;
    reading->outer_guard = model_arena_guard(reading->build.arena, &guard);
    if (setjmp(guard) != 0) {
        yaml_reading_close(reading);
        model_arena_raise(reading->build.arena);
    }
    yaml_text_parse(reading);
    yaml_reading_close(reading);
}

struct model_node *model_yaml_read(struct model_arena *arena,
                                   struct model_text text,
                                   struct model_errors *errors)
{
    struct yaml_reading reading = {
        .build = {.arena = arena, .faults.arena = arena}};
    bool fine = model_text_check(&text, errors);
    model_errors_excerpt(errors, text.file, text.text, text.length);
    if (!fine) {
        return NULL;
    }
    reading.text = text;
    yaml_text_parse_guarded(&reading);
    model_errors_move(errors, &reading.build.faults);
    return reading.build.broken ? NULL : reading.build.root;
}

struct model_node *model_yaml_read_file(struct model_arena *arena,
                                        const char *file,
                                        struct model_errors *errors)
{
    struct model_text text;
    if (!model_text_read(arena, file, MODEL_YAML_BYTES_MAX, &text, errors)) {
        return NULL;
    }
    return model_yaml_read(arena, text, errors);
}

struct model_node *model_yaml_read_text(struct model_arena *arena,
                                        const char *file,
                                        const char *text,
                                        size_t length,
                                        struct model_errors *errors)
{
    struct model_text copy = {.file = model_arena_text(arena, file)};
    if (length > MODEL_YAML_BYTES_MAX) {
        struct model_place place = {copy.file, 0, 0};
        model_errors_add(errors, MODEL_BAD_INPUT, place, NULL, NULL,
                         "is larger than 64 MiB");
        return NULL;
    }
    copy.text = model_arena_text_n(arena, text, length);
    copy.length = length;
    return model_yaml_read(arena, copy, errors);
}

static int yaml_stream_write(void *data, unsigned char *bytes, size_t count)
{
    return fwrite(bytes, 1, count, data) == count;
}

/* Emit an event that was made (made: libyaml's answer); it is used up. */
static bool
yaml_event_emit(yaml_emitter_t *emitter, yaml_event_t *event, int made)
{
    return made != 0 && yaml_emitter_emit(emitter, event) != 0;
}

/*
 * Letters that line folding or a reader's idea of white space could change
 * are safe in double quotes only; for the rest libyaml knows when to quote.
 */
static yaml_scalar_style_t yaml_scalar_style(const char *text, bool quoted)
{
    size_t length = strlen(text);
    for (size_t at = 0; at < length;) {
        unsigned letter = 0;
        size_t bytes = model_utf8_decode(text + at, length - at, &letter);
        if (letter < 0x20 || (letter >= 0x7F && letter <= 0xA0) ||
            (letter >= 0x2000 && letter <= 0x2029) || letter >= 0xE000) {
            return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
        }
        at += bytes == 0 ? 1 : bytes;
    }
    return quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE;
}

static bool
yaml_scalar_emit(yaml_emitter_t *emitter, const char *text, bool quoted)
{
    yaml_event_t event;
    int made = yaml_scalar_event_initialize(&event, NULL, NULL,
                                            (const unsigned char *)text, -1, 1,
                                            1, yaml_scalar_style(text, quoted));
    return yaml_event_emit(emitter, &event, made);
}

/* Flow style is for a line of scalars below the first level. */
static bool yaml_node_flows(const struct model_node *node, int level)
{
    const struct model_node *child = node->first;
    while (child != NULL && child->kind == MODEL_SCALAR) {
        child = child->next;
    }
    return child == NULL && (level > 0 || node->first == NULL);
}

static bool yaml_collection_start_emit(yaml_emitter_t *emitter,
                                       const struct model_node *node,
                                       int level)
{
    yaml_event_t event;
    bool flow = yaml_node_flows(node, level);
    int made =
        node->kind == MODEL_MAPPING
            ? yaml_mapping_start_event_initialize(
                  &event, NULL, NULL, 1,
                  flow ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE)
            : yaml_sequence_start_event_initialize(
                  &event, NULL, NULL, 1,
                  flow ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE);
    return yaml_event_emit(emitter, &event, made);
}

static bool yaml_collection_end_emit(yaml_emitter_t *emitter,
                                     const struct model_node *node)
{
    yaml_event_t event;
    int made = node->kind == MODEL_MAPPING
                   ? yaml_mapping_end_event_initialize(&event)
                   : yaml_sequence_end_event_initialize(&event);
    return yaml_event_emit(emitter, &event, made);
}

static bool yaml_node_emit(yaml_emitter_t *emitter,
                           const struct model_node *node,
                           int level)
{
    if (node->kind == MODEL_SCALAR) {
        bool root_empty = level == 0 && node->text[0] == '\0';
        return yaml_scalar_emit(emitter, node->text,
                                node->quoted || root_empty);
    }
    bool fine = yaml_collection_start_emit(emitter, node, level);
    const struct model_node *child = node->first;
    for (; fine && child != NULL; child = child->next) {
        fine = (node->kind == MODEL_SEQUENCE ||
                yaml_scalar_emit(emitter, child->key, false)) &&
               yaml_node_emit(emitter, child, level + 1);
    }
    return fine && yaml_collection_end_emit(emitter, node);
}

static bool yaml_document_emit(yaml_emitter_t *emitter,
                               const struct model_node *root)
{
    yaml_event_t event;
    int made = yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
    if (!yaml_event_emit(emitter, &event, made)) {
        return false;
    }
    made = yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1);
    if (!yaml_event_emit(emitter, &event, made) ||
        !yaml_node_emit(emitter, root, 0)) {
        return false;
    }
    made = yaml_document_end_event_initialize(&event, 1);
    if (!yaml_event_emit(emitter, &event, made)) {
        return false;
    }
    made = yaml_stream_end_event_initialize(&event);
    return yaml_event_emit(emitter, &event, made);
}

enum model_status model_yaml_write(const struct model_node *root, FILE *stream)
{
    yaml_emitter_t emitter;
    if (yaml_emitter_initialize(&emitter) == 0) {
        return MODEL_FAULT;
    }
    yaml_emitter_set_output(&emitter, yaml_stream_write, stream);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, -1); /* no folding: text stays as it is */
    bool fine = yaml_document_emit(&emitter, root);
    yaml_emitter_delete(&emitter);
    return fine && fflush(stream) == 0 ? MODEL_OK : MODEL_FAULT;
}
