/**
 * The oracle of transformers against published training runs: its constants are fitted here, and
 * its errors are listed row by row.
 */
@NullMarked
package dev.pipewright.bench.oracle;

import org.jspecify.annotations.NullMarked;
