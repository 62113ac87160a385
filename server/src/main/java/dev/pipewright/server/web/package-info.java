/** What all pages share: who may ask, forms within limits, templates, scripts and style sheets. */
@NullMarked
package dev.pipewright.server.web;

import org.jspecify.annotations.NullMarked;
