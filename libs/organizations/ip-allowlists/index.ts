export type { IpAllowlistEvent } from './ip-allowlist.js';
export { disableRanges, listImportedIpAllowlists } from './imported-lists.operator.js';
export { ipAllowlistsDefinition } from './ip-allowlists.definition.js';
export { removeIpAllowlist } from './ip-allowlists.operator.js';
export { IpAllowlistsModule } from './ip-allowlists.module.js';
