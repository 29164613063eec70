import { z } from 'zod';
import { describeController, describeFormBody, htmlPage, nextPage } from '#api/json-api/description';
import { AuthorizeController, decisionForm } from './authorize.controller.js';

export const OAUTH = {
  name: 'OAuth',
  description: 'The OAuth 2.0 server with which `terraform login` and `tofu login` get a token.',
};

const query = {
  client_id: z.string().optional().meta({ description: 'The program.', example: 'terraform-cli' }),
  redirect_uri: z
    .string()
    .optional()
    .meta({ description: 'The address of the program, on this computer.', example: 'http://localhost:10000/login' }),
  response_type: z.string().optional().meta({ description: 'Always `code`.', example: 'code' }),
  code_challenge: z.string().optional().meta({
    description: 'The SHA-256 of the verifier in base64url (RFC 7636).',
    example: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  }),
  code_challenge_method: z.string().optional().meta({ description: 'Always `S256`.', example: 'S256' }),
  state: z
    .string()
    .optional()
    .meta({ description: 'A text that comes back to the program, at most 256 characters.', example: 'a1b2' }),
  scope: z.string().optional().meta({ description: 'Always absent: there are no scopes.' }),
};

/** 400: the server trusts neither the program nor its address. 303: to the sign-in page, or back to the program. */
const otherAnswers = { 400: htmlPage } as const;

export const authorizeOperations = describeController(AuthorizeController, OAUTH, {
  show: {
    operationId: 'getConsentPage',
    summary: 'Ask a person whether a program gets a token',
    query,
    otherAnswers: { ...otherAnswers, 303: nextPage },
  },
  decide: {
    operationId: 'decideAboutLogin',
    summary: 'Approve or deny that a program gets a token',
    query,
    body: describeFormBody(decisionForm, { decision: 'deny' }),
    otherAnswers,
  },
});
