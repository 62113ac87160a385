/** The pages, each a class and a template; {@code PageCatalog} lists them. */
@NullMarked
package dev.pipewright.server.page;

import org.jspecify.annotations.NullMarked;
