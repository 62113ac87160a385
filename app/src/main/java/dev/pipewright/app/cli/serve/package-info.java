/** The command {@code serve}: pages for the browser, which a module of their own makes. */
@NullMarked
package dev.pipewright.app.cli.serve;

import org.jspecify.annotations.NullMarked;
