//! The HDF5 library that calls the filter, and its functions.

use ebz::{Element, ElementType, Error, Result, with_type};
use libc::{c_char, c_int, c_uint, c_void, size_t};
use std::ffi::{CStr, CString};

/// `hid_t`: a handle of HDF5.
pub type Hid = i64;
/// `herr_t`: negative for an error.
pub type Herr = c_int;

/// Our filter id.
const FILTER: c_int = ebz::hdf5::FILTER_ID as c_int;

/// Maximum number of axes of an HDF5 dataset.
const MAX_RANK: usize = 32;

/// Maximum number of filter parameters that HDF5 accepts.
const MAX_WORDS: usize = 256;

/// `H5T_class_t` and `H5T_order_t`.
const CLASS_FLOAT: c_int = 1;
const ORDER_LITTLE: c_int = 0;
const ORDER_BIG: c_int = 1;

/// `H5T_norm_t`: the leading bit of the mantissa is implied.
const NORM_IMPLIED: c_int = 0;

/// `H5D_FILL_VALUE_UNDEFINED`: chunks are zeroed instead.
const FILL_UNDEFINED: c_int = 0;

/// Bit positions of the fields of a floating-point type, as HDF5 describes them.
#[derive(Debug, PartialEq)]
struct Format {
    bits: size_t,
    sign: size_t,
    exponent: size_t,
    exponent_bits: size_t,
    fraction: size_t,
    fraction_bits: size_t,
    bias: size_t,
}

impl Format {
    fn of<T: Element>() -> Self {
        let (bits, fraction_bits) = (8 * T::SIZE, T::FRACTION_BITS as usize);
        let exponent_bits = bits - 1 - fraction_bits;
        Self {
            bits,
            sign: bits - 1,
            exponent: fraction_bits,
            exponent_bits,
            fraction: 0,
            fraction_bits,
            bias: (1 << (exponent_bits - 1)) - 1,
        }
    }
}

/// A loaded HDF5 library.
pub struct Library(*mut c_void);

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: the handle came from dlopen and is closed once.
        unsafe { libc::dlclose(self.0) };
    }
}

impl Library {
    /// The library that called into this one.
    pub fn calling() -> Result<Self> {
        let opened = |name: Option<&CStr>| {
            let name = name.map_or(std::ptr::null(), CStr::as_ptr);
            // SAFETY: the name is null (the program itself) or a C string; NOLOAD only finds
            // libraries that are already loaded.
            let handle = unsafe { libc::dlopen(name, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
            let library = (!handle.is_null()).then_some(Self(handle))?;
            library.symbol(c"H5Pmodify_filter").ok().map(|_| library)
        };
        first_foreign_library()
            .and_then(|name| opened(Some(&name)))
            .or_else(|| opened(None))
            .ok_or_else(|| {
                Error::unsupported("cannot find the HDF5 library that loaded the filter")
            })
    }

    fn symbol(&self, name: &CStr) -> Result<*mut c_void> {
        // SAFETY: the handle is open, and the name is a C string.
        let address = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        if address.is_null() {
            return Err(Error::unsupported(format!(
                "this HDF5 library has no {}: use 1.8.11 or newer",
                name.to_string_lossy()
            )));
        }
        Ok(address)
    }

    /// # Safety
    /// `F` is the type of a pointer to the named function.
    unsafe fn function<F: Copy>(&self, name: &CStr) -> Result<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        let address = self.symbol(name)?;
        // SAFETY: the caller guarantees the type.
        Ok(unsafe { std::mem::transmute_copy(&address) })
    }

    /// The value of a global handle, such as a predefined type.
    fn global(&self, name: &CStr) -> Result<Hid> {
        // SAFETY: the names used below are variables of this type, initialized when HDF5 starts.
        Ok(unsafe { *self.symbol(name)?.cast::<Hid>() })
    }

    /// The element type of a datatype, and whether it is big-endian; an error for types that the
    /// filter does not support.
    pub fn element(&self, datatype: Hid) -> Result<(ElementType, bool)> {
        type Number = unsafe extern "C" fn(Hid) -> c_int;
        type Size = unsafe extern "C" fn(Hid) -> size_t;
        type Fields = unsafe extern "C" fn(
            Hid,
            *mut size_t,
            *mut size_t,
            *mut size_t,
            *mut size_t,
            *mut size_t,
        ) -> Herr;
        // SAFETY: the types match HDF5's headers; HDF5 passed the handle.
        let (number, size) = unsafe {
            (
                |name: &CStr| Ok::<_, Error>(self.function::<Number>(name)?(datatype)),
                |name: &CStr| Ok::<_, Error>(self.function::<Size>(name)?(datatype)),
            )
        };
        let advice = "ebz compresses float16, bfloat16, float32 and float64";
        if number(c"H5Tget_class")? != CLASS_FLOAT {
            return Err(Error::unsupported(format!(
                "this dataset has no floating-point values, but {advice}: create it without the \
                 filter"
            )));
        }
        let order = number(c"H5Tget_order")?;
        let bytes = size(c"H5Tget_size")?;
        let [
            mut sign,
            mut exponent,
            mut exponent_bits,
            mut fraction,
            mut fraction_bits,
        ] = [0; 5];
        // SAFETY: as above; all pointers are valid for a write.
        let status = unsafe {
            self.function::<Fields>(c"H5Tget_fields")?(
                datatype,
                &mut sign,
                &mut exponent,
                &mut exponent_bits,
                &mut fraction,
                &mut fraction_bits,
            )
        };
        succeeded(status, "H5Tget_fields")?;
        let found = Format {
            bits: size(c"H5Tget_precision")?,
            sign,
            exponent,
            exponent_bits,
            fraction,
            fraction_bits,
            bias: size(c"H5Tget_ebias")?,
        };
        let same = |element: &ElementType| {
            element.size() == bytes && with_type!(*element, T => Format::of::<T>()) == found
        };
        let plain = number(c"H5Tget_offset")? == 0
            && number(c"H5Tget_norm")? == NORM_IMPLIED
            && [ORDER_LITTLE, ORDER_BIG].contains(&order);
        let element = ElementType::ALL.into_iter().find(same).filter(|_| plain);
        match element {
            Some(element) => Ok((element, order == ORDER_BIG)),
            None => Err(Error::unsupported(format!(
                "this dataset has a floating-point type of {bytes} bytes, but {advice}"
            ))),
        }
    }

    /// The id of the first filter in the creation properties of a dataset.
    pub fn first_filter(&self, properties: Hid) -> Result<c_int> {
        type GetFilter = unsafe extern "C" fn(
            Hid,
            c_uint,
            *mut c_uint,
            *mut size_t,
            *mut c_uint,
            size_t,
            *mut c_char,
            *mut c_uint,
        ) -> c_int;
        let (mut flags, mut count, mut config) = (0, 0, 0);
        // SAFETY: the type matches HDF5's headers; neither parameters nor a name are requested.
        let id = unsafe {
            self.function::<GetFilter>(c"H5Pget_filter2")?(
                properties,
                0,
                &mut flags,
                &mut count,
                std::ptr::null_mut(),
                0,
                std::ptr::null_mut(),
                &mut config,
            )
        };
        succeeded(id, "H5Pget_filter2")
    }

    /// Flags and parameters of our filter in the creation properties of a dataset.
    pub fn filter_words(&self, properties: Hid) -> Result<(c_uint, Vec<c_uint>)> {
        type GetById = unsafe extern "C" fn(
            Hid,
            c_int,
            *mut c_uint,
            *mut size_t,
            *mut c_uint,
            size_t,
            *mut c_char,
            *mut c_uint,
        ) -> Herr;
        let mut words = vec![0; MAX_WORDS];
        let (mut flags, mut count, mut config) = (0, words.len(), 0);
        // SAFETY: the type matches HDF5's headers; `count` is the capacity.
        let status = unsafe {
            self.function::<GetById>(c"H5Pget_filter_by_id2")?(
                properties,
                FILTER,
                &mut flags,
                &mut count,
                words.as_mut_ptr(),
                0,
                std::ptr::null_mut(),
                &mut config,
            )
        };
        succeeded(status, "H5Pget_filter_by_id2")?;
        words.truncate(count);
        Ok((flags, words))
    }

    /// Replaces flags and parameters of our filter.
    pub fn set_filter_words(&self, properties: Hid, flags: c_uint, words: &[c_uint]) -> Result<()> {
        type Modify = unsafe extern "C" fn(Hid, c_int, c_uint, size_t, *const c_uint) -> Herr;
        // SAFETY: the type matches HDF5's headers; it copies the parameters.
        let status = unsafe {
            self.function::<Modify>(c"H5Pmodify_filter")?(
                properties,
                FILTER,
                flags,
                words.len(),
                words.as_ptr(),
            )
        };
        succeeded(status, "H5Pmodify_filter").map(|_| ())
    }

    /// The chunk extents.
    pub fn chunk(&self, properties: Hid) -> Result<Vec<usize>> {
        type GetChunk = unsafe extern "C" fn(Hid, c_int, *mut u64) -> c_int;
        let mut extents = [0; MAX_RANK];
        // SAFETY: the type matches HDF5's headers; it writes at most the given number of extents.
        let axes = unsafe {
            self.function::<GetChunk>(c"H5Pget_chunk")?(
                properties,
                MAX_RANK as c_int,
                extents.as_mut_ptr(),
            )
        };
        let axes = succeeded(axes, "H5Pget_chunk")? as usize;
        Ok(extents.iter().take(axes).map(|&n| n as usize).collect())
    }

    /// The fill value of a dataset, which HDF5 uses where nothing is written.
    pub fn fill_value(
        &self,
        properties: Hid,
        datatype: Hid,
        (element, is_big): (ElementType, bool),
    ) -> Result<f64> {
        type Defined = unsafe extern "C" fn(Hid, *mut c_int) -> Herr;
        type Get = unsafe extern "C" fn(Hid, Hid, *mut c_void) -> Herr;
        let mut defined = FILL_UNDEFINED;
        // SAFETY: the type matches HDF5's headers.
        let status = unsafe {
            self.function::<Defined>(c"H5Pfill_value_defined")?(properties, &mut defined)
        };
        succeeded(status, "H5Pfill_value_defined")?;
        if defined == FILL_UNDEFINED {
            return Ok(0.0);
        }
        let mut bytes = [0u8; 8];
        // SAFETY: the type matches HDF5's headers; the datatype has at most eight bytes.
        let status = unsafe {
            self.function::<Get>(c"H5Pget_fill_value")?(
                properties,
                datatype,
                bytes.as_mut_ptr().cast(),
            )
        };
        succeeded(status, "H5Pget_fill_value")?;
        if is_big {
            bytes[..element.size()].reverse();
        }
        Ok(with_type!(element, T => T::from_word(u64::from_le_bytes(bytes)).to_f64()))
    }

    /// Makes a message the error stack of the thread, to which HDF5 adds its own entries.
    ///
    /// Uses a separate stack, because newer versions pause the thread's stack while a filter runs:
    /// pushed entries are lost, and resuming and pausing again would clear it.
    pub fn push_error(&self, message: &str) -> Result<()> {
        type Create = unsafe extern "C" fn() -> Hid;
        type Push = unsafe extern "C" fn(
            Hid,
            *const c_char,
            *const c_char,
            c_uint,
            Hid,
            Hid,
            Hid,
            *const c_char,
            ...
        ) -> Herr;
        type SetCurrent = unsafe extern "C" fn(Hid) -> Herr;
        let text = CString::new(message.replace('\0', " ")).unwrap_or_default();
        let class = self.global(c"H5E_ERR_CLS_g")?;
        let major = self.global(c"H5E_PLINE_g")?;
        let minor = self.global(c"H5E_CANTFILTER_g")?;
        // SAFETY: the types match HDF5's headers; every text is a C string and is copied, and the
        // last call closes the stack that the first one creates.
        unsafe {
            let push = self.function::<Push>(c"H5Epush2")?;
            let set_current = self.function::<SetCurrent>(c"H5Eset_current_stack")?;
            let stack = self.function::<Create>(c"H5Ecreate_stack")?();
            push(
                stack,
                c"ebz".as_ptr(),
                c"filter".as_ptr(),
                0,
                class,
                major,
                minor,
                c"%s".as_ptr(),
                text.as_ptr(),
            );
            succeeded(set_current(stack), "H5Eset_current_stack").map(|_| ())
        }
    }
}

fn succeeded(status: c_int, function: &str) -> Result<c_int> {
    if status < 0 {
        return Err(Error::unsupported(format!("HDF5's {function} failed")));
    }
    Ok(status)
}

unsafe extern "C" {
    fn _Unwind_Backtrace(
        visit: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

/// A walk up the call stack to the first function outside of this library.
struct Search {
    own: *mut c_void,
    found: Option<CString>,
}

/// The file of the library that called into this one.
fn first_foreign_library() -> Option<CString> {
    let own = library_at(crate::H5PLget_plugin_type as *const c_void)?.dli_fbase;
    let mut search = Search { own, found: None };
    // SAFETY: `visit` receives the search, which outlives the walk.
    unsafe { _Unwind_Backtrace(visit, (&raw mut search).cast()) };
    search.found
}

/// Visits one function of the call stack.
extern "C" fn visit(context: *mut c_void, argument: *mut c_void) -> c_int {
    const CONTINUE: c_int = 0;
    const STOP: c_int = 4;
    // SAFETY: the context is the unwinder's, the argument is the search.
    let (address, search) = unsafe { (_Unwind_GetIP(context), &mut *argument.cast::<Search>()) };
    match library_at(address as *const c_void) {
        Some(library) if library.dli_fbase != search.own && !library.dli_fname.is_null() => {
            // SAFETY: the loader's name of the library is a C string.
            search.found = Some(unsafe { CStr::from_ptr(library.dli_fname) }.to_owned());
            STOP
        }
        _ => CONTINUE,
    }
}

/// The library that contains an address.
fn library_at(address: *const c_void) -> Option<libc::Dl_info> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: dladdr accepts any address and fills the structure unless it returns zero; all fields
    // may also be zero.
    unsafe { (libc::dladdr(address, info.as_mut_ptr()) != 0).then(|| info.assume_init()) }
}
