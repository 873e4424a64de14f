/* Kernel launches as ops (op.h). */
#pragma once

#include "op/op.h"

/* True if an op may have all attributes of the launch: each is known, and none carries an event. */
bool reprise_kernel_knows_attributes(const CUlaunchConfig *config);

enum reprise_unfit reprise_kernel_examine(struct reprise_op *op,
                                          const struct reprise_call_kernel *call,
                                          CUcontext context);
void reprise_kernel_complete(struct reprise_op *op, const struct reprise_call_kernel *call);
uint64_t reprise_kernel_value(const struct reprise_op *op); /* reprise_op_value() */
enum reprise_match reprise_kernel_match(const struct reprise_op *op,
                                        const struct reprise_call_kernel *call);
void reprise_kernel_take_values(struct reprise_op *into, const struct reprise_call_kernel *call);
CUresult reprise_kernel_issue(const struct reprise_op *op, CUstream stream);
