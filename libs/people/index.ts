export { PeopleModule } from './people.module.js';
export { ADMIN, ensureAdmin, ensureUser, hasAdmin, issueUserToken, makeOwner, setEmail } from './people.operator.js';
export { peopleSlice } from './people.slice.js';
