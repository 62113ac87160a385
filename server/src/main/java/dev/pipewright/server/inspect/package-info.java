/** Files that users upload: what each is, the commands that answer it, within limits. */
@NullMarked
package dev.pipewright.server.inspect;

import org.jspecify.annotations.NullMarked;
