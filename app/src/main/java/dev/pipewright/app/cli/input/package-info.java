/**
 * What several commands are asked: models, clusters, degrees, amounts. Mistakes are collected here.
 */
@NullMarked
package dev.pipewright.app.cli.input;

import org.jspecify.annotations.NullMarked;
