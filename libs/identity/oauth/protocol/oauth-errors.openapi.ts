import { z } from 'zod';
import { exampleText, type OperationDescription } from '#api/json-api/description';

/** The errors of OAuth (RFC 6749 §5.2). */
export const oauthErrors: NonNullable<OperationDescription['refusalContent']> = {
  mediaType: 'application/json',
  schema: z.strictObject({
    error: exampleText('invalid_grant').meta({ description: 'A code of RFC 6749, RFC 7009 or RFC 8628.' }),
    error_description: exampleText('The code has expired. Start the login again.'),
  }),
};
