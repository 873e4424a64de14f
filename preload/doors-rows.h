/* clang-format off */
/*
 * For doors-*.S: the exported name and the door of every row of the table, the spare doors, and the table of their
 * positions. The including file provides assembly.h and these macros. In them the symbol `entry` is the row's number:
 *
 *   jump_exported           jumps to reprise_exported[entry], or to reprise_first_call while that is NULL
 *   if_attention_go label   jumps to the label unless reprise_attention is zero
 *   tell                    calls reprise_door_tell() and restores every argument
 *   unless_told_go label    jumps to the label if that call returned CUDA_SUCCESS; else returns its result to the program
 *   eager_UNCHECKED         the eager call: jumps to reprise_real[entry]
 *   eager_CHECKED           the eager call; passes a result that is not zero to reprise_observe_result()
 *   eager_WAITS             the eager call, always after `tell`; passes the result to reprise_door_returned()
 *   eager_ENDING            the eager call, always after `tell`; passes the result and the first argument to
 *                           reprise_door_ended()
 *
 * With REPRISE_STAND_IN, NO_DOOR rows have an exported name too. It leads to the driver, since the program has no other
 * libcuda.so.1.
 */
	.set entry, 0

/* The position of each door, as a distance: loading the library then needs no relocations. 0: no door. */
	.section .rodata.reprise_door_distances, "a", @progbits
	.balign 4
	.globl reprise_door_distances
	.hidden reprise_door_distances
reprise_door_distances:

	.section .text.reprise_exported, "ax", @progbits
	.globl reprise_exported_begin, reprise_exported_end
	.hidden reprise_exported_begin, reprise_exported_end
reprise_exported_begin:
	.text

	.macro exported name
	.section .text.reprise_exported, "ax", @progbits
	.globl \name
	function \name
	jump_exported
	end_function \name
	.text
	.endm

	.macro barrier_door name, result
	hidden_function reprise_door_\name
	.ifc \result, WAITS
	tell
	eager_WAITS
	.else
	if_attention_go 2f
1:	eager_\result
2:	tell
	unless_told_go 1b
	.endif
	end_function reprise_door_\name
	.endm

	.macro lifetime_door name, result
	hidden_function reprise_door_\name
	tell
	eager_ENDING
	end_function reprise_door_\name
	.endm

	.macro strict_door name, result
	hidden_function reprise_door_\name
	tell
	eager_\result
	end_function reprise_door_\name
	.endm

	.macro end_row door
	.section .rodata.reprise_door_distances, "a", @progbits
	.ifc \door, none
	.long 0
	.else
	.hidden \door
	.long \door - .
	.endif
	.text
	.set entry, entry + 1
	.endm

	.macro wrapped_row name
	exported \name
	end_row reprise_door_\name
	.endm

	.macro no_door_row name
#ifdef REPRISE_STAND_IN
	exported \name
#endif
	end_row none
	.endm

	.macro generic_row kind, name, result
	exported \name
	\kind \name, \result
	end_row reprise_door_\name
	.endm

#define RECORD(name, stream, form, takes) wrapped_row name
#define ORDER(name, stream, form, takes) generic_row barrier_door, name, UNCHECKED
#define SYNC(name, what, stream, form, result, takes) generic_row barrier_door, name, result
#define LIFETIME(name, what, handle, form, result, takes) generic_row lifetime_door, name, result
#define OWN(name, stream, form, takes) wrapped_row name
#define ALLOC(name, stream, form, takes) wrapped_row name
#define NO_DOOR(name, ...) no_door_row name
#include "entry_points.def"

	.section .text.reprise_exported, "ax", @progbits
reprise_exported_end:
	.text

/* The spare doors. The arguments of their functions are not known, so they check no result. */
	.macro spare_door kind, number
	\kind spare_\number, UNCHECKED
	end_row reprise_door_spare_\number
	.endm

	.altmacro
	.set number, 0
	.rept REPRISE_SPARE_DOORS
	spare_door strict_door, %number
	.set number, number + 1
	.endr
	.rept REPRISE_SPARE_STRICT_DOORS
	spare_door strict_door, %number
	.set number, number + 1
	.endr
