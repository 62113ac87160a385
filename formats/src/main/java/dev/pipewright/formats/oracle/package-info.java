/**
 * Tables of training runs of transformers, and the calibrated constants that the oracle of {@code
 * predict.transformer} needs.
 */
@NullMarked
package dev.pipewright.formats.oracle;

import org.jspecify.annotations.NullMarked;
