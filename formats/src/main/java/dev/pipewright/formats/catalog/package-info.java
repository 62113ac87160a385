/**
 * {@link dev.pipewright.formats.catalog.ModelFiles} lists the formats of networks, a line for each,
 * and recognises which of them a file is.
 */
@NullMarked
package dev.pipewright.formats.catalog;

import org.jspecify.annotations.NullMarked;
