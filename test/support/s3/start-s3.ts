import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { S3 } from '@aws-sdk/client-s3';
import { DATA } from '../folders.js';
import { freePorts } from '../free-ports.js';
import { cached } from '../cached.js';
import { archiveClasses, fetchJars, runJava, useArchive } from '../java.js';

/** A real S3 server that checks signatures and stores its objects in a folder. */
export type TestS3 = {
  readonly endpoint: string;
  /** Environment variables for clients of the server. */
  readonly credentials: { readonly AWS_ACCESS_KEY_ID: string; readonly AWS_SECRET_ACCESS_KEY: string };
  readonly bucket: string;
  /** A client for the tests' own checks. */
  readonly client: S3;
  anotherClient(): S3;
  /**
   * Returns the keys of all objects with this prefix, and of multipart uploads that are neither completed nor aborted.
   */
  listKeys(prefix: string): Promise<string[]>;
  /** Sends SIGKILL. Resolves when the process has ended. */
  kill(): Promise<void>;
  /** Starts the server again after `kill`, with the same port and objects. Resolves when it is ready. */
  restart(): Promise<void>;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
};

const HERE = import.meta.dirname;
const NAME = 's3proxy-4.1.0';
/** The start takes 1 s on an idle machine. */
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 50;
const BUCKET = 'cadastre-test';

/** Resolves when the server is ready. Fails, and never skips, if the machine cannot run it. */
export const startS3 = async (): Promise<TestS3> => {
  const archive = await cached(`${NAME}-classes`, makeArchive);
  const folder = await mkdtemp(join(DATA, 'cadastre-s3-'));
  const [port] = await freePorts();
  const endpoint = `http://127.0.0.1:${port}`;
  const credentials = {
    AWS_ACCESS_KEY_ID: 'cadastre-test-key',
    AWS_SECRET_ACCESS_KEY: randomBytes(20).toString('hex'),
  };
  const properties = join(folder, 's3proxy.properties');
  await mkdir(join(folder, 'objects'));
  await writeFile(properties, propertiesOf(endpoint, credentials, join(folder, 'objects')));

  const java = [useArchive(archive), ...(await serverArguments(properties))];
  const launch = () => runJava(java, join(folder, 'output.txt'));
  let server = await launch();
  const anotherClient = (): S3 =>
    new S3({
      endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: {
        accessKeyId: credentials.AWS_ACCESS_KEY_ID,
        secretAccessKey: credentials.AWS_SECRET_ACCESS_KEY,
      },
    });
  const client = anotherClient();
  const stop = async (): Promise<void> => {
    client.destroy();
    await server.kill();
    await rm(folder, { recursive: true, force: true });
  };
  const answer = async (): Promise<void> => {
    try {
      await untilItAnswers(endpoint, () => server.failure());
    } catch (error) {
      await stop();
      throw error;
    }
  };
  await answer();
  await client.createBucket({ Bucket: BUCKET });
  return {
    endpoint,
    credentials,
    bucket: BUCKET,
    client,
    anotherClient,
    listKeys: async (prefix) => {
      const below = { Bucket: BUCKET, Prefix: prefix };
      const { Contents = [] } = await client.listObjectsV2(below);
      const { Uploads = [] } = await client.listMultipartUploads(below);
      return [...Contents.map(({ Key }) => `${Key}`), ...Uploads.map(({ Key }) => `${Key} in parts`)];
    },
    kill: () => server.kill(),
    restart: async () => {
      server = await launch();
      await answer();
    },
    stop,
  };
};

/** Returns the arguments of Java for a server. */
const serverArguments = async (properties: string): Promise<readonly string[]> => {
  const jars = await cached(NAME, (folder) => fetchJars(join(HERE, 'pom.xml'), folder));
  const small = ['-Xmx128m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
  const quiet = `-Dlogback.configurationFile=${join(HERE, 'logback.xml')}`;
  return [...small, quiet, '-cp', join(jars, '*'), 'org.gaul.s3proxy.Main', '--properties', properties];
};

const makeArchive = async (folder: string): Promise<void> => {
  const [port] = await freePorts();
  const endpoint = `http://127.0.0.1:${port}`;
  const properties = join(folder, 's3proxy.properties');
  const nobody = { AWS_ACCESS_KEY_ID: 'nobody', AWS_SECRET_ACCESS_KEY: 'nothing' };
  await writeFile(properties, propertiesOf(endpoint, nobody, folder));
  await archiveClasses(folder, await serverArguments(properties), (server) =>
    untilItAnswers(endpoint, () => server.failure()),
  );
};

const propertiesOf = (endpoint: string, credentials: TestS3['credentials'], folder: string): string =>
  Object.entries({
    's3proxy.endpoint': endpoint,
    's3proxy.authorization': 'aws-v2-or-v4',
    's3proxy.identity': credentials.AWS_ACCESS_KEY_ID,
    's3proxy.credential': credentials.AWS_SECRET_ACCESS_KEY,
    'jclouds.provider': 'filesystem-nio2',
    'jclouds.filesystem.basedir': folder,
  })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

const untilItAnswers = async (endpoint: string, failure: () => string | null): Promise<void> => {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const answered = await fetch(endpoint).then(
      () => true,
      () => false,
    );
    if (answered) return;
    const failureOutput = failure();
    if (failureOutput !== null) throw new Error(`the S3 server has ended: ${failureOutput.slice(-2_000)}`);
    if (Date.now() > deadline) throw new Error(`the S3 server did not answer within ${START_TIMEOUT_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};
