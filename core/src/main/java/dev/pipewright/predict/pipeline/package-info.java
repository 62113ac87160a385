/** Steps of transformers under schedules that no formula prices: their passes are simulated. */
@NullMarked
package dev.pipewright.predict.pipeline;

import org.jspecify.annotations.NullMarked;
