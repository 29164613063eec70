/**
 * The value of `login.v1` in the discovery document: how `terraform login` and `tofu login` get a token. The clients
 * listen on one of the ports, and the browser returns there.
 *
 * @see https://developer.hashicorp.com/terraform/internals/login-protocol
 */
export const LOGIN_SERVICE = {
  client: 'terraform-cli',
  grant_types: ['authz_code'],
  authz: '/oauth/authorize',
  token: '/oauth/token',
  ports: [10_000, 10_010],
} as const;
