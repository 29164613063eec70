import { expect } from '@jest/globals';
import { generateKey } from 'openpgp';

/** The current time in specs, later than the creation of every key. */
export const NOW = new Date('2027-01-01T12:00:00Z');

const YEAR = 365 * 24 * 60 * 60;
export const yearsAgo = (years: number): Date => new Date(NOW.getTime() - years * YEAR * 1000);

type Options = Parameters<typeof generateKey>[0];
export type KeyPair = { readonly publicKey: string; readonly privateKey: string };

/** Creates a key with openpgp. Default: RSA with 2048 bits, created a year ago, without expiry. */
export const keyPair = async (options: Partial<Omit<Options, 'format'>> = {}): Promise<KeyPair> =>
  generateKey({
    type: 'rsa',
    rsaBits: 2048,
    userIDs: [{ name: 'Release', email: 'release@example.com' }],
    subkeys: [],
    date: yearsAgo(1),
    ...options,
    format: 'armored',
  });

export const secondsOf = (years: number): number => years * YEAR;

/** Expects a refusal with this text, and with this pointer if it is set. */
export const expectRefusal = async (
  result: Promise<unknown>,
  detail: string | RegExp,
  pointer?: string,
): Promise<void> => {
  const error: unknown = await result.then(
    () => 'not refused',
    (reason: unknown) => reason,
  );
  const text: unknown = typeof detail === 'string' ? detail : expect.stringMatching(detail);
  const problem = pointer === undefined ? { detail: text } : { detail: text, pointer };
  expect(error).toMatchObject({ kind: 'unprocessable', problems: [problem] });
};

/** A DSA key from gpg 2.2 and its binary signature of `content`. The library cannot create DSA keys. */
export const DSA = {
  keyId: 'C12770D1DD3C3217',
  content: Buffer.from(
    '0000000000000000000000000000000000000000000000000000000000000000  terraform-provider-scaffold_1.0.0_linux_amd64.zip\n',
  ),
  signature: Buffer.from(
    'iHUEABEIAB0WIQQ09LJcRlDmhCefsvzBJ3DR3TwyFwUCawH+8AAKCRDBJ3DR3TwyF3gLAQDDuvQCNB0DHgRSQua0bTUxADXh0HLwOtN8MhKhc7QJYAEAwxbZ95+CrnYChPzxWBaDtu/ZNBAn2Joaz4sakr+Oi4w=',
    'base64',
  ),
  publicKey: `-----BEGIN PGP PUBLIC KEY BLOCK-----

mQMuBGsB/u4RCACaUhudeNq0dzk0pwPBb1LFFZqBWkS9I+Echifi0uRW+iu2pJFj
2XVc8J+rKLpx6Kp9LZB+p4cNcEnAm2+1uJsZTRnE/ioxqhok48xXCbCWdEkjpuEM
JzTfDpASpe7/G6WLJjGuFPs48AgeySX8BdM++K2Moyi9obDR+UICSJkGPdsZBeMA
1oQznqrOsn3HO/ECc/yBlWpas0ZofJYuRV/cwdkHP1Y5VWc4Rnjl+hdyL4TaCdZg
9oFCMYZuyUVi1y4s+MV2QuME0bZPcBiq80khlYvNGfM0ky6gK614VOxQGQTTiPf4
oP+Zh3vVvkXkxqNYASPZhacxFtQLZJoADspTAQD2ZizDAmb+Vu+AX1isilSjzfE0
neYDqOp7OVon8AQlrwf/bGUwIfcy42Y/9o5xmVxlDpuG3f6YYQMaBXEmCsbUsDJk
KgCpscqpZOjPWszuwGp+wMx1Bb9wT1KJ45Tgykf3wStZJUi0FAVl2nKnZ5bQwtvN
wkbmjQtciRD8F0ujiIY9SfL3UW3Itu8JHOC/mhH74isizBqOYgw2kEKpQuOkCl9B
FUirJp9nKFQhH3Lwu5MMp/Rk8VA1iz68ciRzoa7Xhyn2BS/KK8cI2fBxkJuH82V8
BKQeUGZAK4vGArW+rYtJbQVkmQPYukpqrAUVR2X10T3zdvmvCYP9XsP5JqRAHDxv
GgbZmBm4qYwSlSYfDxX+bKpsnY0bX6RUxQpw6ZYqigf/TCmHwefMOBvbJy2Q6nJj
6h7bAEZoeM4TW/SuuHBrs13SZwoafeRpLtQXL3N7sxCSt51mXgK9Cx1ffzE7n5Eg
BeYpQhTXpyUB5wQ+ulgO+tFFTXQrSrweBFCpkesvcxgEV8rY4ox9s5CMcPGap1a0
ff2HEqCFvziJEi4OmkV5sleSvd2kwbepZiNJgDqO5Wzu5z3RivEMHKKx0S5M1eVy
VmwsbY/Ne4ydbAz4tzCJ2cjjPcC6xYNPGd747BnZ0E8/IBZccR6VWZhfCwrzUbNj
GXxAw210odDmNh+a/ZqwO9fk0zOA9avPtsC40KsxFqI+K8AV+56bw5IRSSQebIgj
uLQdUmVsZWFzZSA8cmVsZWFzZUBleGFtcGxlLmNvbT6IkAQTEQgAOBYhBDT0slxG
UOaEJ5+y/MEncNHdPDIXBQJrAf7uAhsDBQsJCAcCBhUKCQgLAgQWAgMBAh4BAheA
AAoJEMEncNHdPDIXJFEA/0pIO0GjVMD5NaQ2G7r92/uMIISnk/NSCU1dFsth8g6V
AQC5CbKIyHYbTpSiij8zjVLS8o/InXpqBZa+W2wIFXdYzQ==
=xv7H
-----END PGP PUBLIC KEY BLOCK-----
`,
};
