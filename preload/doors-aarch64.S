/*
 * The doors, for aarch64: doors-x86_64.S says what they are.
 *
 * A door uses x16 and x17 alone, which the calling convention leaves to it, and jumps by x16, as branch target
 * identification wants it. reprise_exported is read with acquire order: what it leads to reads reprise_real, which was
 * written first.
 */
#include "assembly.h"
#include "entry_points.h"

	.hidden reprise_attention, reprise_real, reprise_exported
	.hidden reprise_door_tell, reprise_door_returned, reprise_door_ended, reprise_door_first_call, reprise_observe_result

/* The frame record, then the integer arguments in their order, as reprise_door_tell() reads them. */
#define FRAME_BYTES 240
#define INTEGERS 16
#define KEPT 80
#define VECTORS 96

	.macro save_arguments
	sub sp, sp, #FRAME_BYTES
	.cfi_adjust_cfa_offset FRAME_BYTES
	stp x29, x30, [sp]
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov x29, sp
	stp x0, x1, [sp, #INTEGERS]
	stp x2, x3, [sp, #INTEGERS + 16]
	stp x4, x5, [sp, #INTEGERS + 32]
	stp x6, x7, [sp, #INTEGERS + 48]
	stp x8, x17, [sp, #KEPT]
	.cfi_rel_offset x17, KEPT + 8
	stp q0, q1, [sp, #VECTORS]
	stp q2, q3, [sp, #VECTORS + 32]
	stp q4, q5, [sp, #VECTORS + 64]
	stp q6, q7, [sp, #VECTORS + 96]
	.endm

	.macro restore_arguments
	ldp q0, q1, [sp, #VECTORS]
	ldp q2, q3, [sp, #VECTORS + 32]
	ldp q4, q5, [sp, #VECTORS + 64]
	ldp q6, q7, [sp, #VECTORS + 96]
	ldp x0, x1, [sp, #INTEGERS]
	ldp x2, x3, [sp, #INTEGERS + 16]
	ldp x4, x5, [sp, #INTEGERS + 32]
	ldp x6, x7, [sp, #INTEGERS + 48]
	ldp x8, x17, [sp, #KEPT]
	.cfi_restore x17
	ldp x29, x30, [sp]
	.cfi_restore x29
	.cfi_restore x30
	add sp, sp, #FRAME_BYTES
	.cfi_adjust_cfa_offset -FRAME_BYTES
	.endm

/*
 * Called by a door, with the entry in w16, where the answer is afterwards, and the door's own return address in x17; those two aside, every register is
 * as before when it returns, and x17 too.
 */
	function reprise_tell
	hint #34 /* bti c */
	save_arguments
	mov w0, w16
	add x1, sp, #INTEGERS
	add x2, sp, #FRAME_BYTES
	bl reprise_door_tell
	mov w16, w0
	restore_arguments
	ret
	end_function reprise_tell

/* The tail of a checked door: the result in w0 is not zero. */
	function reprise_result
	stp x29, x30, [sp, #-32]!
	.cfi_adjust_cfa_offset 32
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov x29, sp
	str x0, [sp, #16]
	bl reprise_observe_result
	ldr x0, [sp, #16]
	ldp x29, x30, [sp], #32
	.cfi_adjust_cfa_offset -32
	.cfi_restore x29
	.cfi_restore x30
	ret
	end_function reprise_result

/* The tail of a door that waits, with the entry in w16: the call has returned, with w0. */
	function reprise_returned
	stp x29, x30, [sp, #-32]!
	.cfi_adjust_cfa_offset 32
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov x29, sp
	str x0, [sp, #16]
	mov w1, w0
	mov w0, w16
	bl reprise_door_returned
	ldr x0, [sp, #16]
	ldp x29, x30, [sp], #32
	.cfi_adjust_cfa_offset -32
	.cfi_restore x29
	.cfi_restore x30
	ret
	end_function reprise_returned

/* The first call through an exported name, with the entry in w16. */
	function reprise_first_call
	save_arguments
	mov w0, w16
	mov x1, x30 /* the way back to the program */
	bl reprise_door_first_call
	mov x16, x0
	restore_arguments
	br x16
	end_function reprise_first_call

/* What an exported name leads to if the driver has no such function: CUDA_ERROR_NOT_SUPPORTED. */
	hidden_function reprise_door_missing
	hint #34
	mov w0, #801
	ret
	end_function reprise_door_missing

	.macro jump_exported
	hint #34
	adrp x16, reprise_exported + 8 * entry
	add x16, x16, #:lo12:(reprise_exported + 8 * entry)
	ldar x16, [x16]
	cbz x16, 1f
	br x16
1:	mov w16, #entry
	b reprise_first_call
	.endm

/* The first instructions of a door, so this is where a jump may land. */
	.macro if_attention_go label
	hint #34
	adrp x16, reprise_attention
	ldr w16, [x16, #:lo12:reprise_attention]
	cbnz w16, \label
	.endm

	.macro unless_told_go label
	cbz w16, \label
	mov w0, w16
	ret
	.endm

	.macro tell
	hint #34
	mov x17, x30
	.cfi_register x30, x17
	mov w16, #entry
	bl reprise_tell
	mov x30, x17
	.cfi_restore x30
	.endm

	.macro load_real
	adrp x16, reprise_real + 8 * entry
	ldr x16, [x16, #:lo12:(reprise_real + 8 * entry)]
	.endm

	.macro eager_UNCHECKED
	load_real
	br x16
	.endm

	.macro eager_CHECKED
	stp x29, x30, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov x29, sp
	load_real
	blr x16
	ldp x29, x30, [sp], #16
	.cfi_adjust_cfa_offset -16
	.cfi_restore x29
	.cfi_restore x30
	cbnz w0, reprise_result
	ret
	.endm

	.macro eager_WAITS
	stp x29, x30, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov x29, sp
	load_real
	blr x16
	ldp x29, x30, [sp], #16
	.cfi_adjust_cfa_offset -16
	.cfi_restore x29
	.cfi_restore x30
	mov w16, #entry
	b reprise_returned
	.endm

	.macro eager_ENDING
	stp x29, x30, [sp, #-32]!
	.cfi_adjust_cfa_offset 32
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov x29, sp
	str x0, [sp, #16]
	load_real
	blr x16
	mov w1, w0
	mov w0, #entry
	ldr x2, [sp, #16]
	bl reprise_door_ended
	ldp x29, x30, [sp], #32
	.cfi_adjust_cfa_offset -32
	.cfi_restore x29
	.cfi_restore x30
	ret
	.endm

#include "doors-rows.h"
