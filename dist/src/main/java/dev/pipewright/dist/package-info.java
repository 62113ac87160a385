/** Makes packages that need no JDK, when Maven calls it; no part of what is packed. */
@NullMarked
package dev.pipewright.dist;

import org.jspecify.annotations.NullMarked;
