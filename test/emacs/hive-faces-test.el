;;; hive-faces-test.el --- Every face can be read  -*- lexical-binding: t; -*-

;;; Commentary:

;; The contrast of each face, as WCAG 2 defines it, on the backgrounds of
;; Emacs itself and of some themes.  Batch Emacs has no colours, so it
;; is told that its frame had those of a graphical one.

(require 'cl-lib)
(require 'hive-mode)
(require 'hive-menu)
(require 'diff-mode)
(require 'hive-test-help)
(require 'tty-colors nil t)

(defconst hive-faces-test-least 4.5
  "The least contrast of text, by WCAG 2 level AA.")

(defun hive-faces-test-luminance (colour)
  "Return the relative luminance of COLOUR, a name or #rrggbb."
  (cl-loop for part in (or (tty-color-standard-values (tty-color-canonicalize colour)) (error "There is no colour %s" colour))
           for weight in '(0.2126 0.7152 0.0722)
           for value = (/ part 65535.0)
           sum (* weight (if (<= value 0.04045) (/ value 12.92)
                           (expt (/ (+ value 0.055) 1.055) 2.4)))))

(defun hive-faces-test-contrast (a b)
  "Return the contrast of the colours A and B, from 1 to 21."
  (let ((light (hive-faces-test-luminance a)) (dark (hive-faces-test-luminance b)))
    (/ (+ 0.05 (max light dark)) (+ 0.05 (min light dark)))))

(ert-deftest hive-faces-have-a-group-of-their-own ()
  (dolist (group '(hive hive-attention hive-shared))
    (should-not (rassoc '(custom-face) (get group 'custom-group))))
  (should (equal '(custom-face) (cdr (assq 'hive-critical (get 'hive-faces 'custom-group)))))
  (should (assq 'hive-faces (get 'hive 'custom-group))))

(ert-deftest hive-faces-test-contrasts-are-those-of-wcag ()
  (should (< 20.9 (hive-faces-test-contrast "#000000" "#ffffff") 21.1))
  (should (< 4.47 (hive-faces-test-contrast "#777777" "#ffffff") 4.49)))

(defun hive-faces-test-faces ()
  "Return the faces of Hive, and those in which it shows a diff."
  (append (mapcar #'cdr hive-diff--faces)
          (cl-remove-if-not (lambda (face)
                              (and (string-prefix-p "hive-" (symbol-name face))
                                   (not (string-prefix-p "hive-test" (symbol-name face)))))
                            (face-list))))

(defun hive-faces-test-colour (face attribute default)
  "Return the colour that FACE has for ATTRIBUTE; DEFAULT if it has none."
  (let ((colour (face-attribute face attribute nil t)))
    (cond ((member colour '(unspecified nil)) default)
          ;; A frame without colours has this as its `default'.
          ((string-prefix-p "unspecified" colour) default)
          (t colour))))

(defun hive-faces-test-colour-frame (mode)
  "Give every face the colours of a frame that has colours and a background of MODE."
  (modify-frame-parameters nil (list (cons 'display-type 'color) (cons 'background-mode mode)))
  (mapc (lambda (face) (face-spec-recalc face nil)) (face-list)))

(defmacro hive-faces-test-with-colours (mode &rest body)
  "Run BODY as if the frame was graphical, with a background of MODE."
  (declare (indent 1))
  `(cl-letf (((symbol-function 'display-color-cells) (lambda (&rest _) 16777216))
             ((symbol-function 'display-graphic-p) (lambda (&rest _) t)))
     (let ((frame-background-mode ,mode))
       (unwind-protect
           (progn
             (hive-faces-test-colour-frame ,mode)
             ,@body)
         (modify-frame-parameters nil '((display-type . mono) (background-mode . light)))))))

(defun hive-faces-test-too-faint (ink paper)
  "Return the faces with too little contrast, and how much they have.
INK and PAPER are the default colours."
  (cl-loop for face in (hive-faces-test-faces)
           for contrast = (hive-faces-test-contrast
                           (hive-faces-test-colour face :foreground ink)
                           (hive-faces-test-colour face :background paper))
           when (< contrast hive-faces-test-least)
           collect (list face (/ (round (* 100 contrast)) 100.0))))

(ert-deftest hive-faces-can-be-read-on-a-light-background ()
  (hive-faces-test-with-colours 'light
    (should (stringp (face-attribute 'hive-critical :foreground)))
    (should (> (length (hive-faces-test-faces)) 30))
    (should-not (hive-faces-test-too-faint "black" "white"))))

(ert-deftest hive-faces-can-be-read-on-a-dark-background ()
  (hive-faces-test-with-colours 'dark
    (should-not (hive-faces-test-too-faint "white" "black"))))

(ert-deftest hive-faces-can-be-read-with-themes ()
  ;; The last one has an off-white ink, and a `highlight' on which that is faint.
  (pcase-dolist (`(,theme ,mode ,its-paper) '((modus-operandi light "#ffffff") (modus-vivendi dark "#000000")
                                              (tsdh-dark dark "gray20")))
    (hive-faces-test-with-colours mode
      (unwind-protect
          (progn
            (load-theme theme t)
            ;; That has found out that the frame of batch Emacs has no colours.
            (hive-faces-test-colour-frame mode)
            (let ((ink (face-attribute 'default :foreground)) (paper (face-attribute 'default :background)))
              (should (equal its-paper paper))
              (ert-info ((symbol-name theme))
                (should-not (hive-faces-test-too-faint ink paper)))))
        (disable-theme theme)))))

(ert-deftest hive-faces-of-code-keep-their-columns-with-variable-pitch ()
  (dolist (face '(hive-prompt-code hive-prompt-table))
    (should (memq 'fixed-pitch (ensure-list (face-attribute face :inherit))))))
