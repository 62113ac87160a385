/** How quickly the pages of {@code serve} answer under load. */
@NullMarked
package dev.pipewright.bench.serve;

import org.jspecify.annotations.NullMarked;
