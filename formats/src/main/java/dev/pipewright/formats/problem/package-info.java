/**
 * Problems of planning as users state them, in the library and on the command line: networks and
 * clusters by name or by file, amounts, sizes, and the defaults of what is not stated. Mistakes are
 * {@link dev.pipewright.formats.file.BadInputException}s, a sentence each.
 */
@NullMarked
package dev.pipewright.formats.problem;

import org.jspecify.annotations.NullMarked;
