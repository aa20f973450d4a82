/** Bits per id and probes per look-up; together about one false positive in 2,000 at full load. */
export const BITS_PER_ID = 16;
const PROBES = 11;
const FIRST_LAYER_IDS = 1 << 16;

type Layer = { readonly bits: Uint32Array; readonly bitCount: number; readonly idsMax: number };

function createLayer(idsMax: number): Layer {
  const bitCount = idsMax * BITS_PER_ID;
  return { bits: new Uint32Array(bitCount / 32), bitCount, idsMax };
}

/**
 * Start and odd step of the probes: two independent 32-bit words of a 128-bit hash given as 32
 * hexadecimal digits.
 */
function wordsOf(idHash: string): readonly [number, number] {
  const second = Number.parseInt(idHash.slice(8, 16), 16);
  return [Number.parseInt(idHash.slice(0, 8), 16), (second | 1) >>> 0];
}

/**
 * A set of event ids that may answer "perhaps" but never forgets: it decides only which ids need an
 * exact look-up. It grows by layers of twice the size, so about `BITS_PER_ID` bits are spent on
 * each id without knowing their number beforehand. Ids are hashes, so probes are taken from their
 * own bits.
 */
export class BloomFilter {
  readonly #layers: Layer[];
  #idsInLast = 0;
  #size = 0;

  /** `expectedIds` sizes the first layer: give the number of stored ids when it is known. */
  constructor(expectedIds = 0) {
    const idsMax = Math.max(FIRST_LAYER_IDS, Math.ceil((expectedIds * 1.25) / 32) * 32);
    this.#layers = [createLayer(idsMax)];
  }

  /** Number of ids added; an id added twice counts twice. */
  get size(): number {
    return this.#size;
  }

  add(idHash: string): void {
    const layer = this.#lastLayer();
    const [first, step] = wordsOf(idHash);
    for (let probe = 0; probe < PROBES; probe += 1) {
      const bit = (first + probe * step) % layer.bitCount;
      layer.bits[bit >>> 5] = (layer.bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
    }
    this.#idsInLast += 1;
    this.#size += 1;
  }

  /** False only when the id was never added. */
  mayContain(idHash: string): boolean {
    const [first, step] = wordsOf(idHash);
    return this.#layers.some((layer) => {
      for (let probe = 0; probe < PROBES; probe += 1) {
        const bit = (first + probe * step) % layer.bitCount;
        if (((layer.bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
      }
      return true;
    });
  }

  #lastLayer(): Layer {
    const last = this.#layers[this.#layers.length - 1];
    if (last !== undefined && this.#idsInLast < last.idsMax) return last;
    const next = createLayer((last?.idsMax ?? FIRST_LAYER_IDS) * 2);
    this.#layers.push(next);
    this.#idsInLast = 0;
    return next;
  }
}
