export { disableRanges, listImportedIpAllowlists } from './imported-lists.operator.js';
export { ipAllowlistsDefinition, IpAllowlistsModule } from './ip-allowlists.module.js';
export { removeIpAllowlist } from './ip-allowlists.operator.js';
