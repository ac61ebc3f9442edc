//! What front ends parse: `.npy` headers, text, HDF5 filter parameters and Zarr configurations.

use crate::files::MAX_OUTPUT_BYTES;
use arbitrary::Unstructured;
use ebz::{Bound, BoundKind, Clip, ElementType, Favor, Fill, Options, Reader, View};
use ebz_cli::internals::{Header, extents, region};
use ebz_testkit::layout;
use serde_json::Value;

/// Headers as NumPy writes them.
pub fn npy_seeds() -> Vec<Vec<u8>> {
    let shapes: [&[usize]; 4] = [&[], &[5], &[0, 7], &[3, 4, 5]];
    let types = [ElementType::F16, ElementType::F32, ElementType::F64];
    let all = shapes.iter().flat_map(|shape| types.map(|t| (t, shape)));
    all.map(|(element, shape)| Header::bytes(element, shape).expect("a header"))
        .collect()
}

/// The header of an `.npy` file; one like it is read to the same type and shape.
pub fn npy(bytes: &[u8]) {
    let Ok(header) = Header::read(&mut &bytes[..]) else {
        return;
    };
    assert!(header.length <= bytes.len());
    if ebz::element_count(&header.shape).is_ok() {
        let again = Header::bytes(header.element, &header.shape).expect("a header");
        let again = Header::read(&mut &again[..]).expect("a header of our own");
        assert_eq!((again.element, again.shape), (header.element, header.shape));
    }
}

/// Valid texts.
pub fn text_seeds() -> Vec<Vec<u8>> {
    let texts = [
        "0:10,:,5:20",
        "-3:-1",
        "100x500x500",
        "auto,-999,1e20",
        "none",
        "0..1",
        "..7",
        "speed",
        r#"{"abs":1e-3,"codec":"ceaz","params":{"rewrite":"exact"},"fill":["auto",7]}"#,
        r#"{"lossless":true,"codec":"fre","chunk":[2,3],"threads":3,"keep_zeros":true}"#,
        r#"{"range":0.01,"clip":"data","favor":"ratio","codec":"auto"}"#,
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}

/// Text of the command line, and the configuration of a Zarr array.
pub fn text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let shape = [30, 1, 50];
    if let Ok(region) = region(Some(text), &shape) {
        let inside = |(range, extent): (&std::ops::Range<usize>, &usize)| {
            range.start <= range.end && range.end <= *extent
        };
        assert!(region.iter().zip(&shape).all(inside), "{text}: {region:?}");
    }
    if let Ok(extents) = extents(text) {
        let _ = ebz::element_count(&extents.0);
    }
    if let Ok(fill) = text.parse::<Fill>() {
        let again: Fill = fill.to_string().parse().expect("our own text");
        // Text of a value of single precision is exact for that type only.
        let (found, given) = (again.values(), fill.values());
        let shown = |b: &f64| {
            let same = |a: &f64| a == b || f64::from(*a as f32) == *b;
            found.as_slice().iter().any(same)
        };
        assert!(given.as_slice().iter().all(shown), "{text}");
        assert_eq!(again.is_auto(), fill.is_auto(), "{text}");
    }
    if let Ok(clip) = text.parse::<Clip>() {
        let again = clip.to_string().parse::<Clip>();
        assert_eq!(again.ok(), Some(clip), "{text}");
    }
    let _ = text.parse::<Favor>();
    if let Ok(Value::Object(configuration)) = serde_json::from_str(text)
        && let Some(options) = configured(&configuration)
    {
        use_options(&options);
    }
}

/// Options from a configuration, as the Python package makes them.
fn configured(configuration: &serde_json::Map<String, Value>) -> Option<Options> {
    let bound = BoundKind::ALL.into_iter().rev().find_map(|kind| {
        let value = configuration.get(kind.name())?;
        let value = value.as_f64().or(value.as_bool().map(|_| 0.0))?;
        Bound::new(kind, value).ok()
    });
    let mut options = Options::new(bound?);
    let name = |key: &str| configuration.get(key).and_then(Value::as_str);
    options.codec = name("codec").unwrap_or(ebz::codec::DEFAULT).into();
    options.favor = name("favor").unwrap_or("balanced").parse().ok()?;
    options.clip = name("clip").unwrap_or("auto").parse().ok()?;
    let number = |value: &Value| value.as_u64().map(|n| n as usize);
    options.threads = configuration.get("threads").map_or(Some(1), number)?;
    let flag = |key: &str| configuration.get(key).is_some_and(|flag| flag == true);
    (options.keep_zeros, options.one_pass) = (flag("keep_zeros"), flag("one_pass"));
    if let Some(fill) = configuration.get("fill") {
        let one = |value: &Value| value.to_string().trim_matches('"').to_string();
        let text: Vec<_> = match fill {
            Value::Array(all) => all.iter().map(one).collect(),
            fill => vec![one(fill)],
        };
        options.fill = text.join(",").parse().ok()?;
    }
    if let Some(Value::Array(chunk)) = configuration.get("chunk") {
        options.chunk = Some(chunk.iter().map(number).collect::<Option<_>>()?);
    }
    if let Some(Value::Object(params)) = configuration.get("params") {
        for (key, value) in params {
            let text = value.as_str().map(str::to_string);
            options
                .params
                .set(key, text.unwrap_or_else(|| value.to_string()));
        }
    }
    Some(options.for_rewriting())
}

/// Valid options compress, and are the same as parameters of an HDF5 filter.
fn use_options(options: &Options) {
    let values: Vec<f32> = (0..60).map(|i| (i as f32 * 0.3).sin()).collect();
    let view = View::new(&values, &[6, 10]).expect("60 values");
    if options.check().is_err() {
        assert!(ebz::compress(&view, options).is_err());
        return;
    }
    if let Ok(bytes) = ebz::compress(&view, options) {
        let array = ebz::decompress::<f32>(&bytes).expect("our own stream");
        assert_eq!(array.shape(), [6, 10]);
    }
    if let Ok(words) = ebz::hdf5::to_words(options) {
        let (again, rest) = ebz::hdf5::from_words(&words).expect("our own words");
        assert!(rest.is_empty());
        assert_eq!(again.bound, options.bound);
        assert_eq!(again.params, options.params);
    }
}

/// Words of a filter: options, element type, fill value and extents of a chunk.
fn words(options: &Options, element: u32, shape: &[u32]) -> Vec<u32> {
    let mut words = ebz::hdf5::to_words(options).expect("words");
    words.extend([element, 0, 0, shape.len() as u32]);
    words.extend(shape);
    words
}

/// Words with values and with streams.
pub fn hdf5_seeds() -> Vec<Vec<u8>> {
    let values: Vec<u8> = (0..240u32).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let mut seeds = Vec::new();
    for (codec, bound) in [
        ("fz", Bound::Abs(0.1)),
        ("ceaz", Bound::Range(0.01)),
        ("fre", Bound::Pointwise(0.01)),
        ("interp", Bound::Abs(0.5)),
        ("zfp-v", Bound::Precision(9)),
    ] {
        let options = Options::new(bound).codec(codec);
        for (element, shape) in [(1, &[24, 10][..]), (2, &[5, 4, 6]), (1 | 256, &[240])] {
            let words = words(&options, element, shape);
            let head = [words.len() as u8];
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            seeds.push([&head, &bytes[..], &values].concat());
            if let Ok(stream) = h5ebz::internals::encode(&words, &values) {
                seeds.push([&head, &bytes[..], &stream].concat());
            }
        }
    }
    seeds
}

/// The number of words, the words, and a chunk: as values to be encoded, and as a stream with valid
/// checksums to be decoded.
pub fn hdf5(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let count = input.arbitrary::<u8>().unwrap_or(0);
    let words: Vec<u32> = (0..count)
        .map_while(|_| input.bytes(4).ok())
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect();
    let rest = input.take_rest();
    if let Ok((options, _)) = ebz::hdf5::from_words(&words) {
        use_options(&options);
    }
    if let Ok(stream) = h5ebz::internals::encode(&words, rest) {
        let decoded = h5ebz::internals::decode(&words, &stream).expect("our own stream");
        assert_eq!(decoded.len(), rest.len());
        if ebz::hdf5::from_words(&words).is_ok_and(|(options, _)| options.bound == Bound::Lossless)
        {
            assert_eq!(decoded, rest);
        }
    }
    let mut stream = rest.to_vec();
    for record in layout::records(rest) {
        layout::seal(&mut stream[record.bytes]);
    }
    // What the filter may allocate is limited by the memory of the machine only.
    let small = Reader::from_source(&stream[..]).is_ok_and(|reader| {
        let frame = reader.frame(0);
        frame.is_ok_and(|frame| frame.header().raw_bytes() <= MAX_OUTPUT_BYTES)
    });
    if small {
        let _ = h5ebz::internals::decode(&words, &stream);
    }
}
