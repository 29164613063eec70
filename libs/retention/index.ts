export { expiryChore, retentionChore } from './retention.chore.js';
export { RetentionModule } from './retention.module.js';
