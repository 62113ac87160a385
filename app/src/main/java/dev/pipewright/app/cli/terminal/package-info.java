/** What a terminal shows besides answers: its width and colours, progress, failures, deadlines. */
@NullMarked
package dev.pipewright.app.cli.terminal;

import org.jspecify.annotations.NullMarked;
