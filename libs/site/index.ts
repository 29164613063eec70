export { SiteModule, type SiteModuleOptions } from './site.module.js';
export type { SiteSetting } from './status/site-facts.js';
