/** Builds the documentation site. */
@NullMarked
package dev.pipewright.site;

import org.jspecify.annotations.NullMarked;
