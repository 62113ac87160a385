/** The sweep of {@code plan}: many points on all cores, kept as they come, and joined shards. */
@NullMarked
package dev.pipewright.app.cli.sweep;

import org.jspecify.annotations.NullMarked;
