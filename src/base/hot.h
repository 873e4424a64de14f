/*
 * Marks what a steady loop uses at every op. A program that does much between two calls, as Python
 * does, fills the caches with its own code and data. Fetching Reprise's lines and pages anew then
 * takes longer than the work itself. So these functions stand side by side, and so do the few words
 * that all of them read and none writes in a steady loop.
 */
#pragma once

#define REPRISE_HOT __attribute__((hot))
#define REPRISE_HOT_DATA __attribute__((section("reprise_hot")))
