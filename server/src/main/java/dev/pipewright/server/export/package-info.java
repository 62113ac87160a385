/** Plans of studies as files of other frameworks and launchers. */
@NullMarked
package dev.pipewright.server.export;

import org.jspecify.annotations.NullMarked;
