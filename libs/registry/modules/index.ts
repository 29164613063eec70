export { MODULE_FILES } from './module.files.js';
export { createModuleSweeper } from './module-sweeper.follower.js';
export { modulesDefinition, ModulesModule } from './modules.module.js';
export { publishedModules } from './registry-modules.published.js';
