#include "trace/sequence.h"

#include <string.h>

static struct reprise_sequence_row row_of(const struct reprise_op *op, bool any_value)
{
	struct reprise_sequence_row row;

	memset(&row, 0, sizeof(row)); /* rows are compared as bytes */
	row.times = 1;
	row.kind = (uint8_t)op->kind;
	row.any_value = any_value;
	if (op->kind == REPRISE_OP_KERNEL) {
		row.name = op->kernel.name;
		memcpy(row.kernel.grid, op->kernel.grid, sizeof(row.kernel.grid));
		memcpy(row.kernel.block, op->kernel.block, sizeof(row.kernel.block));
	} else if (op->kind == REPRISE_OP_COPY) {
		row.bytes = op->copy.bytes;
	} else if (op->kind == REPRISE_OP_SET && op->set.height == 1) {
		row.bytes = op->set.width * op->set.element_bytes;
	}
	return row;
}

void reprise_sequence_note(struct reprise_sequence *sequence, const struct reprise_trace *trace)
{
	sequence->count = 0;
	sequence->left_out = 0;
	for (unsigned int i = 0; i < trace->count; i++) {
		struct reprise_sequence_row row = row_of(&trace->ops[i], trace->any_value[i]);
		struct reprise_sequence_row *last =
			sequence->count > 0 ? &sequence->rows[sequence->count - 1] : NULL;

		row.times = last != NULL ? last->times : 1;
		if (last != NULL && memcmp(last, &row, sizeof(row)) == 0) {
			last->times++;
			continue;
		}
		if (sequence->count == REPRISE_SEQUENCE_MOST) {
			sequence->left_out = trace->count - i;
			return;
		}
		row.times = 1;
		sequence->rows[sequence->count++] = row;
	}
}
