/**
 * What a training run will take: seconds of each op and step, and bytes of each worker over time,
 * from a measured profile and the program that the workers run.
 */
@NullMarked
package dev.pipewright.predict.run;

import org.jspecify.annotations.NullMarked;
