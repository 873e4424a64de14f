/* Launch attributes, which streams and kernel nodes have too: what they are if nobody sets them,
 * and how many bytes of a value each has. */
#pragma once

#include "sim.h"

CUlaunchAttributeValue sim_attribute_default(CUlaunchAttributeID id);

/* Writes a value as the driver does: the bytes of the attribute's own member (measured), the others
 * stay as they are. */
void sim_attribute_tell(CUlaunchAttributeValue *told, CUlaunchAttributeID id,
                        const CUlaunchAttributeValue *value);
