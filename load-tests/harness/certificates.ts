import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Files in PEM. */
export type Certificate = { readonly certificate: string; readonly key: string };

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];

/**
 * Makes certificates in the directory with openssl. An authority signs itself; what it signs is for
 * 127.0.0.1.
 */
export class CertificateMaker {
  constructor(private readonly directory: string) {}

  authority(name: string): Certificate {
    return this.#make(name, ['-nodes', '-addext', 'basicConstraints=critical,CA:TRUE']);
  }

  /** @param password with which its key is encrypted. */
  signed(name: string, by: Certificate, password?: string): Certificate {
    const secrecy = password === undefined ? ['-nodes'] : ['-passout', `pass:${password}`];
    const issuer = ['-CA', by.certificate, '-CAkey', by.key];
    return this.#make(name, [...secrecy, ...issuer, '-addext', 'subjectAltName=IP:127.0.0.1']);
  }

  #make(name: string, options: readonly string[]): Certificate {
    const key = join(this.directory, `${name}.key`);
    const certificate = join(this.directory, `${name}.pem`);
    const files = ['-keyout', key, '-out', certificate, '-subj', `/CN=${name}`];
    execFileSync('openssl', ['req', '-x509', '-days', '2', ...KEY, ...files, ...options], {
      stdio: 'pipe',
    });
    return { certificate, key };
  }
}
