import type { ErrorFormat } from '#api/json-api';
import { ScimRefusal } from './scim-refusal.js';
import { ERROR_SCHEMA, SCIM_JSON } from './scim-schemas.js';

/** Errors at the addresses of SCIM are documents of RFC 7644 §3.12. SCIM has no status 422. */
export const scimErrors: ErrorFormat = {
  prefix: '/scim/',
  mediaType: SCIM_JSON,
  render: ({ status: usual, detail, refused }) => {
    const isInvalid = refused?.kind === 'unprocessable';
    const status = isInvalid ? 400 : usual;
    const scimType = refused instanceof ScimRefusal ? refused.scimType : isInvalid ? 'invalidValue' : undefined;
    const type = scimType === undefined ? {} : { scimType };
    return { status, body: { schemas: [ERROR_SCHEMA], status: String(status), ...type, detail } };
  },
};
