/**
 * Tables of training runs of transformers, and the data that the oracle of {@code
 * predict.transformer} needs: data sheets of machines and calibrated constants.
 */
@NullMarked
package dev.pipewright.formats.oracle;

import org.jspecify.annotations.NullMarked;
