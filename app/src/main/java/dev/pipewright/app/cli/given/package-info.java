/** The commands {@code check} and {@code simulate}: plans and schedules that files give. */
@NullMarked
package dev.pipewright.app.cli.given;

import org.jspecify.annotations.NullMarked;
