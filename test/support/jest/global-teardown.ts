// The same instance as the runner's: both run in the process of Jest.
export { teardown as default } from './global-setup.ts';
