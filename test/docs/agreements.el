;;; agreements.el --- What Emacs has, for agreements.test.ts  -*- lexical-binding: t; -*-

;;; Code:

(require 'cl-lib)

(defun agreements-program ()
  "Return what Emacs has loaded of Hive, functions and values, as one string."
  (let (printed)
    (mapatoms (lambda (symbol)
                (when (string-prefix-p "hive-" (symbol-name symbol))
                  (when (fboundp symbol) (push (prin1-to-string (symbol-function symbol)) printed))
                  (when (boundp symbol) (push (prin1-to-string (symbol-value symbol)) printed)))))
    (mapconcat #'identity printed "\n")))

(defun agreements-plist-fields (type)
  "Return the names of the fields that the plist in TYPE, of customize, offers."
  (pcase type
    (`(plist . ,rest) (mapcar (lambda (option) (substring (symbol-name (car option)) 1))
                              (plist-get rest :options)))
    ((pred consp) (cl-mapcan #'agreements-plist-fields (cdr type)))))

(defun agreements-example (type)
  "Return a value that customize takes for TYPE, nil where it means no value."
  (pcase type
    (`(const . ,rest) (car (last rest)))
    ((or 'natnum `(natnum . ,_)) 7)
    ((or `(cons . ,_)) '("22:00" . "07:30"))
    (_ (error "No example of %S" type))))

(defun agreements-sent (option value)
  "Return what the sidecar is sent when OPTION is VALUE."
  (let (sent)
    (cl-letf (((symbol-function 'hive-sidecar-connected-p) (lambda () t))
              ((symbol-function 'hive-rpc-request) (lambda (_method params &rest _) (setq sent params))))
      (cl-progv (list option) (list value) (hive-attention-send)))
    sent))

(defun agreements-option (name)
  "Return what NAME is in Emacs, and what is sent for each value it offers."
  (let ((symbol (intern name)))
    (list :command (if (commandp symbol) t :json-false)
          :sent (vconcat
                 (when (custom-variable-p symbol)
                   (cl-loop for type in (cdr (get symbol 'custom-type))
                            for value = (agreements-example type)
                            when value collect (agreements-sent symbol value)))))))

(defun agreements-hidden ()
  "Return the characters of Unicode that Emacs shows as others.
They are a list of the first and the last of each run, one after the other."
  (let ((before nil) (found nil))
    (dotimes (char #x110000)
      (let ((hidden (not (equal (string char) (hive-text-inert (string char))))))
        (unless (eq hidden before)
          (push (if hidden char (1- char)) found)
          (setq before hidden))))
    (when before (push #x10FFFF found))
    (vconcat (nreverse (if (= -1 (car (last found))) (butlast found) found)))))

(provide 'agreements)
;;; agreements.el ends here
