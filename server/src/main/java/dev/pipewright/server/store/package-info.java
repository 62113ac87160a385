/** Studies in a database: an embedded file or PostgreSQL, with the same statements. */
@NullMarked
package dev.pipewright.server.store;

import org.jspecify.annotations.NullMarked;
