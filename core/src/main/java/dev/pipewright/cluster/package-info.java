/** Devices and the nested levels of links between them: device ⊂ node ⊂ rack ⊂ …. */
@NullMarked
package dev.pipewright.cluster;

import org.jspecify.annotations.NullMarked;
