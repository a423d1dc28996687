/*
 * status.h - how every fallible function of the testbed answers.
 *
 * A status says only what kind of trouble there was; the place and the words
 * are in struct model_error (error.h). The values are the exit codes of the
 * program, so main() returns what the library returned.
 */
#ifndef MODEL_STATUS_H
#define MODEL_STATUS_H

enum model_status {
    MODEL_OK = 0,
    MODEL_BAD_INPUT = 1, /* a file or a value in it is wrong */
    MODEL_USAGE = 2,     /* the command line is wrong */
    MODEL_STUCK = 3,     /* the simulated program cannot finish */
    MODEL_BUDGET = 4,    /* an accuracy budget is exceeded */
    MODEL_NO_DEVICE = 5, /* a device or back-end is not available */
    MODEL_FAULT = 70     /* our own fault, or memory ran out */
};

#endif
