/** Networks as graphs of layers: operators, shapes, parameters and arithmetic, without time. */
@NullMarked
package dev.pipewright.model;

import org.jspecify.annotations.NullMarked;
